import { Command } from 'commander';
import { AccessError } from '../kube/access/access-error.ts';
import { KubeError } from '../kube/errors.ts';
import { statusOf } from '../process/command-line.ts';
import { Failure } from '../session/access/failure.ts';
import { grantEdit, requestTo } from '../session/access/grants.ts';
import { SourceError } from '../session/access/sources.ts';
import { plainMessage } from '../session/facts/kube-cause.ts';
import { explained } from '../session/facts/unread.ts';
import { type Define, type EndWith, exit, exitStatusOf } from './exit-status.ts';
import { printableLines } from './output/width.ts';
import { Interrupted } from './run-command.ts';

/** User commands by name, each loaded on its own: a command starts faster than with all of them. */
export const commands: Readonly<Record<string, () => Promise<Define>>> = {
  status: async () => (await import('./status/command.ts')).statusCommand,
  nodes: async () => (await import('./nodes/command.ts')).nodesCommand,
  nics: async () => (await import('./nics/command.ts')).nicsCommand,
  why: async () => (await import('./why/command.ts')).whyCommand,
  plan: async () => (await import('./plan/command.ts')).planCommand,
  diff: async () => (await import('./diff/command.ts')).diffCommand,
  sync: async () => (await import('./sync/command.ts')).syncCommand,
  history: async () => (await import('./history/command.ts')).historyCommand,
  'allow-removals': async () => (await import('./allow-removals/command.ts')).allowRemovalsCommand,
  dashboard: async () => (await import('./dashboard/command.ts')).dashboardCommand,
  doctor: async () => (await import('./doctor/command.ts')).doctorCommand,
  'support-bundle': async () => (await import('./support-bundle/command.ts')).supportBundleCommand,
  'register-cluster': async () =>
    (await import('./register-cluster/command.ts')).registerClusterCommand,
  migrate: async () => (await import('./migrate/command.ts')).migrateCommand,
  completion: async () => {
    const { completionCommand } = await import('./completion/command.ts');
    return () => completionCommand(commands);
  },
  version: async () => (await import('./version/command.ts')).versionCommand,
};

/** Runs a user command; prints errors as one line plus the next step. */
export async function cliMain(name: string, argv: readonly string[]): Promise<number> {
  const program = new Command('multinic');
  let status: number = exit.done;
  const endWith: EndWith = (result, tolerance) => {
    status = exitStatusOf(result, tolerance);
  };
  try {
    const define = await commands[name]?.();
    if (!define) throw new Error(`no command ${name}`);
    program.addCommand(define(endWith));
    const parse = () => program.parseAsync([name, ...argv], { from: 'user' });
    return (await statusOf(program, parse)) ?? status;
  } catch (error) {
    return reported(error);
  }
}

/** Exit status after Ctrl-C, as in a shell. */
const interruptedExit = 130;

function reported(error: unknown): number {
  if (error instanceof Interrupted) return interruptedExit;
  const { message, next } = problemOf(error);
  console.error(printableLines(next === undefined ? message : `${message}\nNext: ${next}`));
  return exitStatusOf({ error });
}

interface Problem {
  readonly message: string;
  readonly next: string | undefined;
}

function problemOf(error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Failure || error instanceof AccessError)
    return { message, next: error.next };
  if (error instanceof KubeError && isOfRequest(error)) return ofRequest(error);
  const cause = causeOf(error);
  return cause ? { message: cause.why.en, next: cause.next.en } : { message, next: undefined };
}

/** Returns the cause of a failed read; undefined: an error of this program. */
function causeOf(error: unknown) {
  const place = error instanceof SourceError ? error.required.place : 'the cluster';
  try {
    return explained(error, { grant: grantEdit, place, kubeconfig: undefined });
  } catch {
    return undefined;
  }
}

/** True if the API server refuses this request: its message names object and field. */
function isOfRequest({ status }: KubeError): boolean {
  return status >= 400 && status < 500 && status !== 401;
}

function ofRequest(error: KubeError): Problem {
  const message = plainMessage(error);
  if (error.status !== 403)
    return { message, next: 'correct this, and run the command again: finished steps stay' };
  return {
    message,
    next:
      error.resource === 'openstackconfigs'
        ? requestTo(grantEdit, message).en
        : 'use a kubeconfig whose user may do this (an administrator of the cluster)',
  };
}
