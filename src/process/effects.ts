/** Runs one named external write; parts write outside their process only this way. */
export type Perform<Name extends string> = <T>(name: Name, write: () => Promise<T>) => Promise<T>;

/** Called before and after each write; fault suites stop the process here. */
export type EffectListener<Name extends string> = (name: Name, phase: 'before' | 'after') => void;

/** Creates a `Perform` that calls the listener around each write; a failed write has no `after`. */
export function createPerform<Name extends string>(listener: EffectListener<Name>): Perform<Name> {
  return async (name, write) => {
    listener(name, 'before');
    const result = await write();
    listener(name, 'after');
    return result;
  };
}
