import { killSuite } from './kills.ts';

killSuite('operator');
