import {
  algorithmsWithSecret,
  embedTokenType,
  embedTokenTypes,
  integrationBody,
} from '../../../domain/embed-token/embed-token.ts';
import { integrationDefinition, integrationFields } from '../../../domain/integration.ts';
import { deleteDocument } from '../../../operations/document/document.ts';
import { putIntegration } from '../../../operations/integration/integration.ts';
import { capitalized, listText } from '../../description.ts';
import { asCreated, documentEndpoints } from '../../document-endpoints.ts';

const settingsTexts = embedTokenTypes.map(([type, { label, claims, settings }]) => {
  const members = Object.entries(settings.properties).map(([name, { description }]) => {
    const mark = settings.required.includes(name) ? ' (required)' : '';
    return `  - \`${name}\`${mark}: ${description}`;
  });
  return `- \`${type}\`: ${label}. \`claims\` are ${claims}.\n${members.join('\n')}`;
});

const typesWithSecret = embedTokenTypes.flatMap(([type, definition]) => {
  const algorithms = algorithmsWithSecret(definition);
  if (typeof algorithms === 'boolean') return algorithms ? [`\`${type}\``] : [];
  return [`\`${type}\` with ${listText(algorithms.map((algorithm) => `\`${algorithm}\``))}`];
});

const { secret: _, ...metabaseExample } = embedTokenType({ type: 'metabase' }).example;

export const integrations = documentEndpoints({
  definition: integrationDefinition,
  name: 'Integration',
  tag: 'Embed tokens',
  idParameter: 'integration_id',
  readers: ['admin'],
  body: integrationBody,
  fields: integrationFields,
  example: {
    integration_id: 'metabase',
    type: 'metabase',
    ...metabaseExample,
    unrestricted: false,
    ...asCreated,
  },
  requests: Object.fromEntries(
    embedTokenTypes.map(([type, { label, example }]) => [
      type,
      { summary: capitalized(label), value: { type, ...example } },
    ]),
  ),
  put: putIntegration,
  remove: (context, caller, id, precondition) =>
    deleteDocument(context, caller, integrationDefinition, id, precondition),
  texts: {
    put:
      'Stores exactly the sent fields under this id. Values come only from the user group that a token is for: ' +
      '`{"property": "region"}`, `{"mapping": "40"}`, `{"field": "provided_id"}`, or the same for all: `{"constant": …}`. A ' +
      'property must be listed in `settings.properties`.\n\n`secret` is required for a new integration of the types ' +
      `${listText(typesWithSecret)}. It is stored encrypted and never returned; ` +
      `without it, an existing integration keeps its own. At most ${integrationDefinition.limit.documents} integrations.\n\n` +
      `The settings by type:\n\n${settingsTexts.join('\n')}\n\n` +
      'With `If-None-Match: *` the call only creates; with `If-Match: "…"`, the `ETag` of an earlier response, it replaces ' +
      'only that version. Otherwise the response is 412 `version_mismatch`.',
    read: 'Returns the integration, without its secret.',
    list: 'The integrations of the workspace and environment, without their secrets.',
    remove: 'Deletes the integration. Tokens that it has minted remain valid until they expire.',
  },
});
