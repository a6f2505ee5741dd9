import { configFileSchema } from '../../../domain/config/config.ts';
import type { PublicEndpoint } from '../../public-endpoint.ts';
import { sharedContent } from '../../response/compressed.ts';
import { JSON_TYPE } from '../../response/problem.ts';

export const configSchema: PublicEndpoint = {
  operationId: 'readConfigSchema',
  path: '/config.schema.json',
  handle: sharedContent(() => JSON.stringify(configFileSchema), { 'content-type': JSON_TYPE }),
  description: {
    tag: 'Service',
    summary: 'Read the JSON Schema of configuration files',
    text: 'JSON Schema 2020-12 of the files of `user-group-service config`, for editors and checks.',
    responses: {
      200: {
        description: 'The JSON Schema.',
        headers: ['Vary'],
        schema: {
          title: 'ConfigSchema',
          type: 'object',
          additionalProperties: true,
          description: 'A JSON Schema.',
        },
      },
    },
    problems: ['overloaded'],
  },
};
