// Calls the service with fetch.

export async function call(method, path, body) {
  const response = await fetch(process.env.SERVICE_URL + path, {
    method,
    headers: { Authorization: `Token ${process.env.API_TOKEN}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  return { status: response.status, value: text && JSON.parse(text) };
}
