import { killPointsOf } from './kill-points.ts';
import { killSuite } from './kills.ts';
import { openStandIns } from './stand-ins.ts';

killSuite(killPointsOf('operator'), () => openStandIns({ managedAccess: true }));
