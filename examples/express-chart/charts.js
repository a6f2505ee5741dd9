// The dashboard server. Its API token can only resolve. On every request it asks the service who is viewing, and reads
// only from the data source of that customer. Whatever is missing is an error: there is no default.

import express from 'express';
import session from 'express-session';
import { UserGroupClient, UserGroupServiceError } from 'user-group-service-client';
import { connections } from './connections.js';
import { chartPage, messagePage } from './page.js';

const { SERVICE_URL, API_TOKEN, PRODUCT_URL, SESSION_SECRET, NODE_ENV, PORT = '4000' } = process.env;
const SCHEMA = 'orders';
const COOKIE = 'charts';
const SESSION_MS = 8 * 60 * 60 * 1_000;

const userGroups = new UserGroupClient({ url: SERVICE_URL, apiToken: API_TOKEN, timeoutMs: 5_000 });

/** Something that this customer lacks. */
class NotConfigured extends Error {}

function connectionOf({ data_sources, unresolved = [] }) {
  const secretName = data_sources?.[SCHEMA]?.attributes.secret_name;
  const connection = connections.get(secretName);
  if (connection !== undefined) return connection;
  const [dangling] = unresolved.filter(({ schema_id }) => schema_id === SCHEMA);
  if (dangling) throw new NotConfigured(`the data source ${dangling.data_source} does not exist`);
  throw new NotConfigured(`no connection for the secret ${secretName}`);
}

/** A property that is absent or of another type is an error: it must not widen the query. */
function parametersOf({ properties }) {
  const { regions, since } = properties ?? {};
  const isList = Array.isArray(regions) && regions.length > 0;
  if (!isList || !regions.every((region) => typeof region === 'string'))
    throw new NotConfigured('the property regions is not a list of texts');
  if (!/^\d{4}-\d\d-\d\d$/.test(since)) throw new NotConfigured('the property since is not a date');
  return [regions, since];
}

/** The values of properties are parameters, never part of the SQL. */
const ORDERS_BY_MONTH = `
  select to_char(ordered_on, 'YYYY-MM') as month, sum(amount)::float8 as amount
  from orders
  where region = any($1::text[]) and ordered_on >= $2::date
  group by 1
  order by 1`;

const app = express();

// A Secure cookie is only set on HTTPS, which the proxy in front reports in X-Forwarded-Proto.
app.set('trust proxy', 'loopback');

app.use((_request, response, next) => {
  response.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; frame-ancestors ${PRODUCT_URL}`,
  });
  next();
});

app.use(
  session({
    name: COOKIE,
    secret: SESSION_SECRET,
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'strict', secure: NODE_ENV === 'production', maxAge: SESSION_MS },
  }),
);

/** The page of the product posts the token of its viewer. The browser gets a cookie; the token stays here. */
app.post('/session', express.urlencoded({ extended: false, limit: '8kb' }), async (request, response) => {
  if (request.get('origin') !== PRODUCT_URL) {
    response.status(403).send(messagePage('This page can only be opened from the product.'));
    return;
  }
  // First of all: the session of the previous viewer must not survive, whatever happens to this one.
  await new Promise((resolve, reject) => {
    request.session.regenerate((error) => (error ? reject(error) : resolve()));
  });
  const token = request.body?.token;
  await userGroups.resolve(token);
  request.session.token = token;
  response.redirect(303, '/');
});

app.get('/', async (request, response) => {
  const viewer = await userGroups.resolve(request.session.token);
  const connection = connectionOf(viewer);
  const { rows } = await connection.query(ORDERS_BY_MONTH, parametersOf(viewer.user_group));
  response.send(chartPage(`Orders of ${viewer.user_group.name}`, rows));
});

/** Express recognizes an error handler by its four parameters. */
app.use((error, request, response, _next) => {
  if (error instanceof UserGroupServiceError && error.code === 'user_group_token_not_found') {
    endSession(request, response);
    return;
  }
  // The viewer learns nothing about the configuration.
  console.error(error.message);
  const text =
    error instanceof NotConfigured
      ? 'Your data is not available. Please contact support.'
      : 'The chart cannot be loaded at the moment. Please try again later.';
  response.status(503).send(messagePage(text));
});

/** There is no token, or it was rotated, or its user group is suspended or deleted. */
function endSession(request, response) {
  request.session.destroy(() => {
    response.clearCookie(COOKIE);
    response.status(401).send(messagePage('Your session has ended. Please reload the page.'));
  });
}

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
