import { isDeepStrictEqual } from 'node:util';
import { type Row, withAttempts } from '../../fixtures/crash/kills.ts';
import type { Life } from '../../fixtures/crash/life.ts';

const head = `# The kill list on real parts

What \`make test-long SUITE=crash-real\` found when it ran last: OpenStack, two control planes, a node with systemd, udev, networkd, containerd and kubelet. At each point a part is killed in mid-life (a port is attached, an OpenstackConfig selects its server, the NIC is configured, the port detached, the OpenstackConfig deleted); the end states with the NIC and without it, and the objects made in the business cluster, have to be those of a life in which nobody died. A killed agent has said nothing: one more is sent, which is a Job and its ConfigMap.

| killed | hit | end state | objects made | without a death |
| --- | --- | --- | --- | --- |
`;

/** Markdown page: killed writes, whether the kill happened, and the result. */
export function tableOf(rows: readonly Row[]): string {
  return head + rows.map((row) => `| ${cellsOf(row).join(' | ')} |\n`).join('');
}

function cellsOf({ point, clean, life }: Row): string[] {
  if (!life) return [point.id, 'no', '', '', objects(clean.created)];
  const ended = [life.configured, life.gone];
  const same = isDeepStrictEqual(ended, [clean.configured, clean.gone]);
  const counted = isDeepStrictEqual(life.created, withAttempts(clean.created, point));
  const made = objects(life.created);
  return [
    point.id,
    'yes',
    same ? 'equal' : 'DIFFERS',
    counted ? made : `${made} (NOT AS EXPECTED)`,
    objects(clean.created),
  ];
}

function objects(created: Life['created']): string {
  return Object.entries(created)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}
