// node:http

// docs: begin
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { answerLines } from './lines.js';

function call(method, path, body) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    Authorization: `Token ${process.env.API_TOKEN}`,
    'Content-Type': 'application/json',
    // Without it Node does not tell that a GET has a body.
    'Content-Length': Buffer.byteLength(text),
  };
  return new Promise((resolve, reject) => {
    request(process.env.SERVICE_URL + path, { method, headers }, (response) => {
      const status = response.statusCode;
      if (status === 204) resolve({ status });
      else json(response).then((value) => resolve({ status, value }), reject);
    })
      .on('error', reject)
      .end(text);
  });
}
// docs: end

await answerLines(call);
