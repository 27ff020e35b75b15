/** Registers a test. */
export type Act = (title: string, test: () => Promise<void>) => void;
