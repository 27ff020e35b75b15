import { killPointsOf } from './kill-points.ts';
import { killSuite } from './kills.ts';
import { openStandIns } from './stand-ins.ts';

killSuite(killPointsOf('viola', 'controller'), openStandIns);
