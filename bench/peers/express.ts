// Minimal implementation with Express and pg, with one query per request, on the table of the service. It
// compares the API token with a setting and returns the stored ciphertext as the token, so it neither queries
// API tokens nor decrypts anything.

import express, { type Request, type Response } from 'express';
import pg from 'pg';

const FIND =
  'select team_id, name, properties, token_ciphertext from user_groups ' +
  'where workspace_id = $1 and environment = $2 and provided_id = $3';
const CREATE =
  'insert into user_groups (bucket, workspace_id, environment, provided_id, team_id, name, mapping, properties, ' +
  'version, token_digest, token_key_id, token_ciphertext, created_at, updated_at) ' +
  'values ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $10, $11, $12, $12) ' +
  'on conflict (bucket, workspace_id, environment, provided_id) do nothing';
const CONNECTIONS = 32;

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: CONNECTIONS });
const app = express();
app.use(express.json());
app.get('/readyz', (_request, response) => {
  response.json({ success: 1 });
});
app.use((request, response, next) => {
  if (request.headers.authorization === `Token ${process.env.BENCH_API_TOKEN}`) next();
  else response.status(401).json({ success: 0 });
});

app.get('/api/user', async ({ body }: Request, response: Response) => {
  const { rows } = await pool.query(FIND, [1, 'Customer', body.user_group_id]);
  const [row] = rows;
  if (row === undefined) response.status(404).json({ success: 0 });
  else response.json(responseBody(false, row.team_id, row.token_ciphertext, row.name, body.user_group_id));
});

app.post('/v1/user-groups', async ({ body }: Request, response: Response) => {
  const teamId = Math.floor(Math.random() * 2 ** 52);
  const token = `${crypto.randomUUID()}${crypto.randomUUID()}${crypto.randomUUID()}`;
  await pool.query(CREATE, [
    teamId % 2 ** 14,
    1,
    'Customer',
    body.user_group_id,
    teamId,
    body.name,
    JSON.stringify(body.mapping),
    JSON.stringify(body.properties),
    token.slice(0, 43),
    '01234567',
    token,
    Date.now(),
  ]);
  response.status(201).json(responseBody(true, teamId, token, body.name, body.user_group_id));
});

function responseBody(
  isNew: boolean,
  teamId: number,
  token: string,
  name: string,
  providedId: string,
): object {
  return {
    success: 1,
    new_user_group: isNew,
    user_group: { team_id: Number(teamId), token, name, provided_id: providedId },
  };
}

app.listen(Number(process.env.PORT), '127.0.0.1');
