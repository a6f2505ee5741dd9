// Webhook endpoints that fail, and API tokens that expire soon or were never used: an administrator should look at them.

import type { ApiToken } from '../../domain/api-token.ts';
import type { Document } from '../../domain/document.ts';
import { DAY_MS } from '../../domain/instant.ts';
import { parseWebhookEndpoint } from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import { findHealth } from '../../operations/webhook-endpoint/webhook-endpoint.ts';
import { API_TOKENS, activeApiTokens, apiTokenLink, expiresSoon } from '../api-token/show.ts';
import { badge, type Html, html, idLink, link, none, pathTo, time } from '../markup/html.ts';
import { environmentConfig, type PageCall, unlessBusy } from '../page.ts';
import { WEBHOOKS } from '../webhook-endpoint/delivery.ts';
import { isDisabledByService, NO_DELIVERIES, NO_EVENTS } from '../webhook-endpoint/health.ts';

/** Age at which an unused API token is reported: a newer one may not be deployed yet. */
const UNUSED_MS = DAY_MS;
/** Maximum number of API tokens of each kind; the list has all. */
const MAX_ITEMS = 10;

/** Under load, when lists are slowed down, says so instead. */
export async function attention(call: PageCall): Promise<Html> {
  const items = await unlessBusy(findItems(call));
  return html`<section aria-labelledby="attention"><h2 id="attention">Needs attention</h2>
${items === null ? BUSY : itemList(items)}
</section>`;
}

const BUSY = none('The service is too busy to check webhook endpoints and API tokens now. Reload this page.');

function itemList(items: readonly Html[]): Html {
  if (items.length === 0)
    return none('No webhook endpoint fails, and no API token expires soon or is unused.');
  return html`<ul class="entries">${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}

async function findItems(call: PageCall): Promise<Html[]> {
  const [endpoints, { apiTokens }] = await Promise.all([failingEndpoints(call), activeApiTokens(call)]);
  const now = call.context.clock();
  const expiringSoon = apiTokens
    .filter((apiToken) => expiresSoon(apiToken, now))
    .sort((a, b) => a.expiresAt! - b.expiresAt!);
  return [
    ...endpoints,
    ...firstItems(expiringSoon.map(expiring)),
    ...firstItems(apiTokens.filter((apiToken) => isUnused(apiToken, now)).map(unused)),
  ];
}

async function failingEndpoints(call: PageCall): Promise<Html[]> {
  const documents = [...(await environmentConfig(call)).ofKind('webhook_endpoint').values()];
  const items = await Promise.all(documents.map((document) => failure(call, document)));
  return items.filter((item) => item !== null);
}

/** Returns null for an endpoint that does not fail. */
async function failure(call: PageCall, document: Document): Promise<Html | null> {
  const { id, updatedAt } = document;
  const endpoint = html`Webhook endpoint ${idLink(pathTo(...WEBHOOKS, id), id)}`;
  if (await isDisabledByService(call, document))
    return html`${badge('bad', 'disabled')} ${endpoint} failed, and was disabled ${time(updatedAt)}`;
  if (call.context.eventRetentionDays === 0 && parseWebhookEndpoint(document).enabled)
    return html`${NO_DELIVERIES} ${endpoint}: ${NO_EVENTS}`;
  const { failingSince } = await findHealth(call.context, call.caller, id, 1);
  return failingSince === null
    ? null
    : html`${badge('bad', 'failing')} ${endpoint} since ${time(failingSince)}`;
}

function isUnused({ lastUsedAt, createdAt }: ApiToken, now: number): boolean {
  return lastUsedAt === null && createdAt < now - UNUSED_MS;
}

function expiring(apiToken: ApiToken): Html {
  return html`${badge('warning', 'expires')} API token ${apiTokenLink(apiToken)} at ${time(apiToken.expiresAt)}`;
}

function unused(apiToken: ApiToken): Html {
  return html`${badge('neutral', 'never used')} API token ${apiTokenLink(apiToken)}, created ${time(apiToken.createdAt)}`;
}

function firstItems(items: readonly Html[]): Html[] {
  const more = items.length - MAX_ITEMS;
  return more <= 0
    ? [...items]
    : [...items.slice(0, MAX_ITEMS), html`${more} more: see ${link(pathTo(API_TOKENS), 'API tokens')}`];
}
