// The pages of the console, in the order of its navigation.

import type { FastifyInstance } from 'fastify';
import { lazy } from '../http/lazy.ts';
import { addAssets } from '../http/public-endpoint.ts';
import { Assets } from '../http/response/assets.ts';
import { nothingAtPath } from '../http/response/problem.ts';
import { readDependencyFile, readProgramFile } from '../system/program-file.ts';
import { apiTokenCreation } from './api-token/create.ts';
import { listOfApiTokens } from './api-token/list.ts';
import { apiTokenRevocation } from './api-token/revoke.ts';
import { apiTokenRotation } from './api-token/rotate.ts';
import { showApiToken } from './api-token/show.ts';
import { dataSourcePages } from './catalogue/data-source.ts';
import { catalogueOverview } from './catalogue/overview.ts';
import { schemaPages } from './catalogue/schema.ts';
import { createDemoData } from './demo/create.ts';
import { list as listEvents } from './event/list.ts';
import { chooseIntegrationType, integrationPages } from './integration/integration.ts';
import { mappingPolicyPages } from './mapping-policy/mapping-policy.ts';
import { Breadcrumbs } from './markup/breadcrumbs.ts';
import { overview } from './overview/overview.ts';
import type { Page } from './page.ts';
import { propertySchemaPages } from './property-schema/property-schema.ts';
import { addActionAddresses } from './request/action-addresses.ts';
import type { ConsoleOptions } from './request/exchange.ts';
import { KnownFrames } from './request/known-frames.ts';
import { redirect } from './request/response.ts';
import { addPage, beforeMissingPage } from './request/serve.ts';
import { requestSession } from './session/session.ts';
import { sessions, switchSession } from './session/sessions.ts';
import { addSignIn, signOut } from './session/sign-in.ts';
import { listSigningKeys, signingKeyRotation } from './signing-key/signing-key.ts';
import { allDataSources } from './user-group/all-data-sources.ts';
import { creation, creationAgain } from './user-group/create.ts';
import { deletion } from './user-group/delete.ts';
import { edit, editAgain } from './user-group/edit.ts';
import { events } from './user-group/events.ts';
import { exportList } from './user-group/export.ts';
import { findByToken } from './user-group/find.ts';
import { list } from './user-group/list.ts';
import { renaming } from './user-group/rename.ts';
import { restore } from './user-group/restore.ts';
import { review } from './user-group/review.ts';
import { rotation } from './user-group/rotate.ts';
import { save } from './user-group/save.ts';
import { applyToSelection, reviewSelection } from './user-group/selection.ts';
import { show, showToken } from './user-group/show.ts';
import { resume, suspension } from './user-group/suspend.ts';
import { mintTest, view } from './user-group/view-as.ts';
import { redeliverEvent, testEndpoint } from './webhook-endpoint/deliver.ts';
import { showDelivery } from './webhook-endpoint/delivery.ts';
import { webhookEndpointPages } from './webhook-endpoint/endpoint.ts';
import { redeliverFailedForm } from './webhook-endpoint/redeliver-failed.ts';
import { secretRotation } from './webhook-endpoint/rotate.ts';

const FOLDER = '/console/assets';

const files = {
  'console.css': () => readProgramFile('console/console.css'),
  'htmx.js': () => readDependencyFile('htmx.org/dist/htmx.min.js'),
  'console.js': () => readProgramFile('console/console.js'),
  'mark.svg': () => readProgramFile('console/mark.svg'),
};

export const pages: readonly Page[] = [
  // /console
  overview,
  // /console/user-groups
  list,
  exportList,
  reviewSelection,
  applyToSelection,
  ...creation,
  creationAgain,
  ...findByToken,
  // /console/user-groups/{user_group_id}
  show,
  showToken,
  edit,
  editAgain,
  review,
  save,
  restore,
  ...rotation,
  ...renaming,
  ...suspension,
  resume,
  ...deletion,
  events,
  allDataSources,
  view,
  mintTest,
  // /console/events
  listEvents,
  // /console/demo
  createDemoData,
  // /console/catalogue
  catalogueOverview,
  ...mappingPolicyPages,
  ...propertySchemaPages,
  // /console/catalogue/schemas
  ...schemaPages.all,
  // /console/catalogue/data-sources
  ...dataSourcePages.all,
  // /console/integrations
  chooseIntegrationType,
  ...integrationPages.all,
  // /console/integrations/-/signing-keys
  listSigningKeys,
  ...signingKeyRotation,
  // /console/webhooks
  ...webhookEndpointPages.all,
  ...secretRotation,
  testEndpoint,
  ...redeliverFailedForm,
  // /console/webhooks/{webhook_endpoint_id}/deliveries/{event_id}
  showDelivery,
  redeliverEvent,
  // /console/api-tokens
  listOfApiTokens,
  ...apiTokenCreation,
  // /console/api-tokens/{api_token_id}
  showApiToken,
  ...apiTokenRotation,
  ...apiTokenRevocation,
  // /console/sessions
  sessions,
  switchSession,
  signOut,
];

export function addConsole(app: FastifyInstance, given: Omit<ConsoleOptions, 'assets' | 'frames'>): void {
  const assets = lazy(() => Assets.load(FOLDER, files));
  const frames = new KnownFrames(new Breadcrumbs(pages), assets);
  const options = { ...given, frames, assets };
  app.findFrame = (request) => {
    const session = requestSession(given.context, request);
    return session && frames.find(session, request);
  };
  app.beforeMissingPage = (request, reply) => beforeMissingPage(options, request, reply);
  addSignIn(app, options);
  for (const page of pages) addPage(app, options, page);
  addActionAddresses(app, options, pages);
  addAssets(app, options, FOLDER, assets);
  // Serves only browsers that open it: for other requests, nothing is at this path.
  app.route({
    method: app.supportedMethods,
    url: '/',
    handler: async (request, reply) => {
      const isBrowser = request.method === 'GET' && (request.headers.accept ?? '').includes('text/html');
      if (!isBrowser) throw nothingAtPath();
      options.publicLimit?.countPage(request.raw);
      return redirect(reply, '/console');
    },
  });
}
