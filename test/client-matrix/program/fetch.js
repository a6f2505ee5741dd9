// fetch

import { answerLines } from './lines.js';

// docs: begin
async function call(method, path, body) {
  const answer = await fetch(process.env.SERVICE_URL + path, {
    method,
    headers: { Authorization: `Token ${process.env.API_TOKEN}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const { status } = answer;
  return status === 204 ? { status } : { status, value: await answer.json() };
}
// docs: end

await answerLines(call);
