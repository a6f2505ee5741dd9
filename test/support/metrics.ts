// Reads metrics in the text format of Prometheus.

import { send } from './http.ts';

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function parseMetrics(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name, labels = '', value] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`not a sample: ${line}`);
    const pairs = [...labels.matchAll(LABEL)].map(([, label, text]) => [label!, text!]);
    return { name, labels: Object.fromEntries(pairs), value: Number(value) };
  });
}

export class Scrape {
  readonly text: string;
  readonly samples: Sample[];

  static async of(metricsUrl: string): Promise<Scrape> {
    const { origin, pathname: path } = new URL(metricsUrl);
    const { status, text } = await send(origin, { path });
    if (status !== 200) throw new Error(`${metricsUrl} returned ${status}`);
    return new Scrape(text);
  }

  private constructor(text: string) {
    this.text = text;
    this.samples = parseMetrics(text);
  }

  /** Returns the sum of the samples with this name and these labels; NaN if there are none. */
  sum(name: string, labels: Record<string, string> = {}): number {
    const matching = this.samples.filter(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
    return matching.length === 0 ? Number.NaN : matching.reduce((total, { value }) => total + value, 0);
  }

  values(label: string): Set<string> {
    return new Set(this.samples.flatMap(({ labels }) => labels[label] ?? []));
  }
}
