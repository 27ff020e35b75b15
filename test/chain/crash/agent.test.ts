import { killPointsIn } from './kill-points.ts';
import { killSuite } from './kills.ts';
import { openStandIns } from './stand-ins.ts';

killSuite(killPointsIn(import.meta.filename), openStandIns);
