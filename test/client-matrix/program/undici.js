// undici

// docs: begin
import { request } from 'undici';
import { answerLines } from './lines.js';

async function call(method, path, body) {
  const answer = await request(process.env.SERVICE_URL + path, {
    method,
    headers: { authorization: `Token ${process.env.API_TOKEN}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const status = answer.statusCode;
  return status === 204 ? { status } : { status, value: await answer.body.json() };
}
// docs: end

await answerLines(call);
