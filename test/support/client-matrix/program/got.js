// Calls the service with got.

import got from 'got';

export async function call(method, path, body) {
  const { statusCode: status, body: text } = await got(process.env.SERVICE_URL + path, {
    method,
    headers: { authorization: `Token ${process.env.API_TOKEN}` },
    json: body,
    timeout: { request: 10_000 },
    allowGetBody: true,
    throwHttpErrors: false,
  });
  return { status, value: text && JSON.parse(text) };
}
