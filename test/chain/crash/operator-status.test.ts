import { openFakeSite } from './fake-site.ts';
import { killPointsIn } from './kill-points.ts';
import { killSuite } from './kills.ts';

killSuite(killPointsIn(import.meta.filename), () => openFakeSite({ managedAccess: true }));
