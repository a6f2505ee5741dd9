// got

// docs: begin
import got from 'got';
import { answerLines } from './lines.js';

async function call(method, path, body) {
  const { statusCode: status, body: text } = await got(process.env.SERVICE_URL + path, {
    method,
    headers: { authorization: `Token ${process.env.API_TOKEN}` },
    json: body,
    allowGetBody: true,
    throwHttpErrors: false,
  });
  return status === 204 ? { status } : { status, value: JSON.parse(text) };
}
// docs: end

await answerLines(call);
