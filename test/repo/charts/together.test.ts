import { expect, it } from 'vitest';
import { ofKind, rendered, renderedAs } from './manifests.ts';

function names(render: string): string[] {
  return renderedAs(render).map(({ kind, metadata }) =>
    [kind, metadata?.namespace ?? '', metadata?.name].join(' '),
  );
}

it('both charts can be in one cluster: no object is of both', () => {
  const ofOperator = names('operator-production');
  expect(names('agent-production').filter((name) => ofOperator.includes(name))).toEqual([]);
});

it('[RW-59] no chart runs an agent when it is installed', () => {
  const run = rendered.flatMap(({ name, manifests }) =>
    ['Job', 'CronJob', 'DaemonSet'].flatMap((kind) =>
      ofKind(manifests, kind).map(({ metadata }) => `${name}: ${kind} ${metadata?.name}`),
    ),
  );
  expect(run).toEqual([]);
});
