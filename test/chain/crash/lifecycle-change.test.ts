import { killPointsIn } from './kill-points.ts';
import { killLifecycle } from './lifecycle-kills.ts';

killLifecycle(killPointsIn(import.meta.filename));
