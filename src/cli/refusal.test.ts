import { expect, it } from 'vitest';
import { errorInContext } from '../session/in-context.ts';
import { Refusal, WrongUsage } from './refusal.ts';

it.each([Refusal, WrongUsage])(
  '%o keeps its exit status after its command was completed',
  (kind) => {
    const options = { context: 'prod', businessContext: new Map<string, string>() };
    const error = errorInContext(new kind('why', 'kubectl multinic nodes'), options);
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ next: 'kubectl multinic nodes --context prod' });
  },
);
