import { killPointsIn } from '../../fixtures/crash/kill-points.ts';
import { killLifecycle } from '../../fixtures/crash/lifecycle-kills.ts';

killLifecycle(killPointsIn(import.meta.filename));
