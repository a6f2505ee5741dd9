// Cube's API gateway with the settings of `jwt` that a Cube has in `cube.js`. Instead of a data model it has one path,
// which returns the security context: what a data model would see as `SECURITY_CONTEXT`.

import gateways from '@cubejs-backend/api-gateway';
import express from 'express';

const { ISSUER, JWKS_URL, AUDIENCE = 'cube', PORT = '4000' } = process.env;

/** Without the SQL API, whose server is a native library. */
class Gateway extends gateways.ApiGateway {
  createSQLServerInstance() {
    return {};
  }
}

const gateway = new Gateway(
  'not used: tokens are verified with the published keys',
  async () => ({}),
  async () => ({}),
  (type, { error, warning }) => console.error(type, error ?? warning ?? ''),
  {
    basePath: '/cubejs-api',
    // The same as NODE_ENV=production. Without it, Cube accepts a request whose token is not valid.
    enforceSecurityChecks: true,
    jwt: { jwkUrl: JWKS_URL, issuer: [ISSUER], audience: AUDIENCE, algorithms: ['ES256'] },
  },
);

const app = express();
app.get('/security-context', gateway.checkAuth, (request, response) => {
  response.json(request.securityContext);
});

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/security-context`);
});
