import { Command } from 'commander';
import type { App } from '../app.ts';
import { allSettings, type Flags, readConfig, type Setting, variableText } from '../config.ts';
import { createLog } from '../log.ts';
import { serveUntilSignal } from './run-until-signal.ts';
import { addHelpSection } from './terminal/help-layout.ts';

export function serveCommand(): Command {
  const command = new Command('serve')
    .summary('run the service in production')
    .description(
      'Serves the API until SIGTERM, SIGINT or, in a terminal, SIGHUP. Each setting is read from its flag or its environment variable; ' +
        'secrets only from the environment variable or from the file named by NAME_FILE. Never prints a secret.',
    );
  for (const setting of allSettings) addSetting(command, setting);
  addHelpSection(
    command,
    'Secrets:',
    allSettings
      .filter(({ flag }) => flag === undefined)
      .map((setting) => [variableText(setting), setting.meaning]),
  );
  return command.action(async (flags: Flags) => {
    const config = readConfig(process.env, flags);
    const log = await createLog(config);
    const announce = ({ url, metricsUrl, threads }: App): void =>
      log.info(
        { url, database: config.databaseUrl.engine, threads, metrics: metricsUrl ?? undefined },
        'listening',
      );
    await serveUntilSignal(log, config, announce);
  });
}

/** Adds the flag of a setting, if it has one. */
export function addSetting(command: Command, setting: Setting<unknown>): void {
  const { flag, fallback, meaning } = setting;
  if (flag !== undefined)
    command.option(flag, `${meaning} (${variableText(setting)}; default: ${fallback || 'none'})`);
}
