// Writes descriptions for other programs: of the API, events, configuration files, dashboards and alerts.

import { copyFileSync } from 'node:fs';
import { configFileSchema } from '../../src/domain/config/config.ts';
import { eventSchema } from '../../src/http/endpoints/event/representation.ts';
import { writeJson } from './file.ts';
import type { Builder } from './release.ts';

const COPIED = {
  'openapi.json': 'docs/openapi.json',
  'grafana-dashboard.json': 'deploy/grafana/user-group-service.json',
  'prometheus-alerts.yml': 'deploy/prometheus/alerts.yml',
};

export const descriptions: Builder = {
  kind: 'descriptions',
  what: 'API description, JSON Schemas, dashboard and alert rules',
  peers: [],
  build: ({ output }) => {
    for (const [name, path] of Object.entries(COPIED)) copyFileSync(path, `${output}/${name}`);
    writeJson(`${output}/config.schema.json`, configFileSchema);
    writeJson(`${output}/event.schema.json`, eventFileSchema);
  },
};

/** Schema of an event, as in a page of events and in the body of a webhook. */
export const eventFileSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...eventSchema,
  title: 'Event of the User Group Service',
};
