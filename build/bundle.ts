// Bundles the executable into dist/, for the images and for tests that run processes.
import { join } from 'node:path';
import { bundle } from './bundler.ts';

const { outputs } = await bundle(join(import.meta.dirname, '../dist'));
const bytes = Object.values(outputs).reduce((sum, output) => sum + output.bytes, 0);
console.log(`dist: ${Object.keys(outputs).length} files, ${Math.round(bytes / 1024)} KiB`);
