// The objects of OpenAPI, as far as the description uses them.

import type { Schema } from './schema.ts';

export interface OpenApi {
  openapi: string;
  info: { title: string; version: string; summary: string; description: string; license: object };
  servers: object[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    schemas: Record<string, Schema | null>;
    headers: Record<string, HeaderObject>;
    responses: Record<string, ResponseObject>;
    securitySchemes: Record<string, { description: string }>;
  };
}

export interface OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: object[];
  parameters?: Parameter[];
  requestBody?: { required: true; content: Record<string, Content> };
  responses: Record<string, Referable>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
}

export interface ResponseObject {
  description: string;
  headers: Record<string, { $ref: string }>;
  content?: Record<string, Content>;
}

export interface HeaderObject {
  description: string;
  required?: boolean;
  schema: Schema;
  example: unknown;
}

export type Referable = ResponseObject | { $ref: string };

export interface Content {
  schema: { $ref: string };
  examples?: Readonly<Record<string, Example>>;
}

export interface Example {
  summary: string;
  value: unknown;
}
