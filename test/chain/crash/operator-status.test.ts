import { openFakeSite } from '../../fixtures/crash/fake-site.ts';
import { killPointsIn } from '../../fixtures/crash/kill-points.ts';
import { killSuite } from '../../fixtures/crash/kills.ts';

killSuite(killPointsIn(import.meta.filename), () => openFakeSite({ managedAccess: true }));
