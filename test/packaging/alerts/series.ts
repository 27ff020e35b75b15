import { leases } from '../../../build/alerts/expressions.ts';

/** What Prometheus scrapes: each series with its values, a minute apart, as promtool writes them. */
export type Series = Readonly<Record<string, string>>;

export const longest = 4_400;

/** A gauge that stays as it is, as a Pod shows it. */
export function shows(
  name: string,
  labels: Readonly<Record<string, string>>,
  value: number,
  pod = 'a',
): Series {
  return { [seriesOf(name, labels, pod)]: `${value}+0x${longest}` };
}

/** A counter that rises by as much each minute. */
export function rises(name: string, labels: Readonly<Record<string, string>>, by: number): Series {
  return { [seriesOf(name, labels, 'a')]: `0+${by}x${longest}` };
}

export function seriesOf(
  name: string,
  labels: Readonly<Record<string, string>>,
  pod: string,
): string {
  const all = Object.entries({ ...labels, pod, job: 'scraped' });
  return `${name}{${all.map(([label, value]) => `${label}="${value}"`).join(',')}}`;
}

export type Part = keyof typeof leases;

export function leads(part: Part, value = 1, pod = 'a'): Series {
  return shows('multinic_leader', { lease: leases[part] }, value, pod);
}

export function leaderOf(part: Part): string {
  return seriesOf('multinic_leader', { lease: leases[part] }, 'a');
}
