import { Command } from 'commander';
import { DAY_MS, timestamp } from '../domain/instant.ts';
import { type Purged, purgeEvents } from '../operations/event/purge.ts';
import { type DatabaseOptions, onDatabase } from './option/database-option.ts';
import { parseDuration } from './option/duration.ts';
import { confirmByTyping } from './terminal/confirm.ts';
import { counted, printResult } from './terminal/output.ts';
import { progressBar } from './terminal/progress.ts';

/** Pause between batches, so that callers of the service hardly notice. */
const PAUSE_MS = 5;

type PurgeOptions = DatabaseOptions & { olderThan?: number; yes?: boolean };

export function eventCommand(): Command {
  return new Command('event').summary('delete old events and usage').addCommand(purgeCommand());
}

function purgeCommand(): Command {
  const command = new Command('purge')
    .summary('delete old events, webhook deliveries and usage of all workspaces now')
    .description(
      'Deletes events, webhook deliveries and usage that are older than UGS_EVENT_RETENTION_DAYS, as the service does in ' +
        'the background, but faster. Can run while the service is running, and can be interrupted and run again. With ' +
        '--older-than it may delete events that the service would keep: it then asks for confirmation, unless --yes is set. ' +
        'A SQLite file does not shrink; new data takes the space.',
    )
    .option(
      '--older-than <duration>',
      'delete what is older, such as 30d (default: UGS_EVENT_RETENTION_DAYS)',
      (text) => parseDuration(text, '10y'),
    )
    .option('--yes', 'delete without asking for confirmation');
  return onDatabase(command, async ({ store, config }, options: PurgeOptions) => {
    const retentionMs = config.eventRetentionDays * DAY_MS;
    const ageMs = options.olderThan ?? retentionMs;
    const now = Date.now();
    const before = now - ageMs;
    if (ageMs < retentionMs && !options.yes) await confirmPurge(before);
    using bar = progressBar('rows deleted');
    const purged = await purgeEvents({ store, now, before, pauseMs: PAUSE_MS, onDeleted: bar.add });
    bar.end();
    print(purged, options);
  });
}

function confirmPurge(before: number): Promise<void> {
  return confirmByTyping(
    'purge',
    `This deletes all events and the usage before ${timestamp(before)}, some of which the service would keep.\n` +
      'Type purge to confirm: ',
  );
}

function print(purged: Purged, options: DatabaseOptions): void {
  const { events, deliveries, usage } = purged;
  const text = `Deleted ${counted(events, 'event')}, ${counted(deliveries, 'webhook delivery', 'webhook deliveries')} and ${counted(usage, 'count')} of usage.`;
  printResult(options, purged, text);
}
