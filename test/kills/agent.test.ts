import { killSuite } from './kills.ts';

killSuite('agent');
