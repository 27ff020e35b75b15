import { basename } from 'node:path';
import type { Metafile } from 'esbuild';

const entry = 'main.mjs';
const agentModule = 'src/agent/main-agent.ts';

/**
 * Subset of a bundle that the agent can reach: the agent's image has no HTTP server and no database. main imports parts dynamically; only
 * the agent's import is followed.
 */
export function agentBundle({ inputs, outputs }: Metafile): Metafile {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const reached = new Set<string>();
  const follow = (name: string): void => {
    const output = byName.get(name);
    if (!output || reached.has(name)) return;
    reached.add(name);
    for (const { path, kind } of output.imports) {
      const next = basename(path);
      const foreign = kind === 'dynamic-import' && name === entry && !isAgent(byName.get(next));
      if (!foreign) follow(next);
    }
  };
  follow(entry);
  if (![...reached].some((name) => isAgent(byName.get(name)))) {
    throw new Error(`${entry} does not import ${agentModule}`);
  }
  const taken = Object.entries(outputs).filter(([path]) =>
    reached.has(basename(path).replace(/\.LEGAL\.txt$/, '')),
  );
  const sources = new Set(taken.flatMap(([, output]) => Object.keys(output.inputs)));
  return {
    inputs: Object.fromEntries(Object.entries(inputs).filter(([path]) => sources.has(path))),
    outputs: Object.fromEntries(taken),
  };
}

function isAgent(output: Metafile['outputs'][string] | undefined): boolean {
  return output?.entryPoint === agentModule;
}
