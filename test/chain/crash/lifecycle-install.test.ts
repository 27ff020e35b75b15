import { killPointsOfRun } from '../../fixtures/crash/kills.ts';
import { killLifecycle } from '../../fixtures/crash/lifecycle-kills.ts';

killLifecycle(killPointsOfRun(import.meta.filename));
