import { killPointsAt } from '../../fixtures/crash/kill-points.ts';
import { killSuite } from '../../fixtures/crash/kills.ts';
import { openRealParts } from '../../fixtures/e2e/site.ts';
import { rotated } from '../../rotation.ts';

// At most two kills per run; `make test-long SUITE=crash-real` runs all and more.
const points = killPointsAt(
  'operator.node-config.post after',
  'viola.node-config.apply before',
  'controller.job.create after',
  'controller.status.write before',
  'agent.file.commit before',
);

killSuite(
  rotated('crash on real parts', points, 3, ({ id }) => id),
  () => openRealParts((line) => void process.stdout.write(`${line}\n`)),
);
