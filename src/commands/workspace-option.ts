// What the commands share that work on one workspace and environment.

import { InvalidArgumentError, Option } from 'commander';
import { type Environment, environments } from '../domain/user-group.ts';

export interface WorkspaceOptions {
  workspace: string;
  environment: Environment;
}

export function workspaceOption(meaning: string): Option {
  return new Option('--workspace <name>', meaning).makeOptionMandatory().argParser(parseName);
}

export function environmentOption(meaning: string): Option {
  return new Option('--environment <environment>', meaning).choices(environments).default('Customer');
}

export function parseName(text: string): string {
  if (text.trim() === '' || [...text].length > 255 || /\p{Cc}/u.test(text)) {
    throw new InvalidArgumentError('It must have 1 to 255 characters and no control characters.');
  }
  return text;
}
