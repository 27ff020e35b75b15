import { killSuite } from './kills.ts';

killSuite('viola', 'controller');
