import { killPointsAt } from '../../chain/crash/kill-points.ts';
import { killSuite } from '../../chain/crash/kills.ts';
import { rotated } from '../../rotation.ts';
import { openRealParts } from './site.ts';

// At most two kill points on real parts per run; test/long/crash-real has all of these and more.
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
