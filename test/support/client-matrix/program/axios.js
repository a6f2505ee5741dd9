// Calls the service with axios.

import axios from 'axios';

export async function call(method, path, body) {
  const { status, data } = await axios.request({
    method,
    url: process.env.SERVICE_URL + path,
    headers: { Authorization: `Token ${process.env.API_TOKEN}`, 'Content-Type': 'application/json' },
    data: body,
    signal: AbortSignal.timeout(10_000),
    validateStatus: () => true,
  });
  return { status, value: data };
}
