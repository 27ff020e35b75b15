import { killPointsAt } from '../../chain/crash/kill-points.ts';
import { killSuite } from '../../chain/crash/kills.ts';
import { openRealParts } from './site.ts';

// A few of the list on real parts; `make test-long SUITE=crash-real` takes more of them.
const points = killPointsAt(
  'operator.node-config.post after',
  'viola.node-config.apply before',
  'controller.job.create after',
  'controller.status.write before',
  'agent.file.commit before',
);

killSuite(points, () => openRealParts((line) => void process.stdout.write(`${line}\n`)));
