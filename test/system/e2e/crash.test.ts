import { killPointsAt } from '../../chain/crash/kill-points.ts';
import { killSuite } from '../../chain/crash/kills.ts';
import { rotated } from '../../rotation.ts';
import { openRealParts } from './site.ts';

// At most two of these per run; `make test-long SUITE=crash-real` takes all of them and more.
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
