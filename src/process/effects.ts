/** Runs one named external write; the only way a part writes outside its process. */
export type Perform<Name extends string> = <T>(name: Name, write: () => Promise<T>) => Promise<T>;

/** Told before and after each write; fault suites stop the process here. */
export type EffectListener<Name extends string> = (name: Name, phase: 'before' | 'after') => void;

/** Makes a `Perform` that tells its listener around each write; a failed write has no `after`. */
export function createPerform<Name extends string>(listener: EffectListener<Name>): Perform<Name> {
  return async (name, write) => {
    listener(name, 'before');
    const result = await write();
    listener(name, 'after');
    return result;
  };
}
