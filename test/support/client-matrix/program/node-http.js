// Calls the service with node:http.

import { request } from 'node:http';
import { text } from 'node:stream/consumers';

export function call(method, path, body) {
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const headers = {
    Authorization: `Token ${process.env.API_TOKEN}`,
    'Content-Type': 'application/json',
    // Without it, Node sends a GET without any framing of its body.
    'Content-Length': bytes.length,
  };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(10_000);
    request(process.env.SERVICE_URL + path, { method, headers, signal }, (response) => {
      text(response)
        .then((json) => ({ status: response.statusCode, value: json && JSON.parse(json) }))
        .then(resolve, reject);
    })
      .on('error', reject)
      .end(bytes);
  });
}
