import { openFakeSite } from '../../fixtures/crash/fake-site.ts';
import { killPointsOfRun, killSuite } from '../../fixtures/crash/kills.ts';

killSuite(killPointsOfRun(import.meta.filename), openFakeSite);
