import { expect, it } from 'vitest';
import { filesBelow, textOf } from './tree.ts';

const scripts = [...filesBelow('scripts'), 'deploy-operator.sh', 'cleanup-operator.sh'].filter(
  (path) => path.endsWith('.sh'),
);

/** Charts of many products name a component "agent", "controller" or "operator". */
it.each(scripts)('[C7] %s selects components of this product only', (path) => {
  const selectors = textOf(path).match(/\S*app\.kubernetes\.io\/component=\S*/g) ?? [];
  expect(selectors.filter((one) => !one.includes('app.kubernetes.io/name='))).toEqual([]);
});
