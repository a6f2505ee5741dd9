// Calls the service with undici.

import { request } from 'undici';

export async function call(method, path, body) {
  const { statusCode: status, body: responseBody } = await request(process.env.SERVICE_URL + path, {
    method,
    headers: { authorization: `Token ${process.env.API_TOKEN}`, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await responseBody.text();
  return { status, value: text && JSON.parse(text) };
}
