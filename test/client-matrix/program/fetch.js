// A call with fetch.

export async function call(method, path, body) {
  const answer = await fetch(process.env.SERVICE_URL + path, {
    method,
    headers: { Authorization: `Token ${process.env.API_TOKEN}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, value: text && JSON.parse(text) };
}
