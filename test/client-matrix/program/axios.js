// axios

// docs: begin
import axios from 'axios';
import { answerLines } from './lines.js';

async function call(method, path, body) {
  const { status, data } = await axios.request({
    method,
    url: process.env.SERVICE_URL + path,
    headers: { Authorization: `Token ${process.env.API_TOKEN}`, 'Content-Type': 'application/json' },
    data: body,
    validateStatus: () => true,
  });
  return { status, value: data };
}
// docs: end

await answerLines(call);
