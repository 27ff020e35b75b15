import { killPointsIn } from './kill-points.ts';
import { killSuite } from './kills.ts';
import { openFakeSite } from './stand-ins.ts';

killSuite(killPointsIn(import.meta.filename), () => openFakeSite({ managedAccess: true }));
