import { StoreUnavailable } from '../store/port.ts';

/** A part of a page from lists and counts, which are slowed down under load: the page is shown without it then. */
export async function unlessBusy<Result, Otherwise>(
  result: Promise<Result>,
  otherwise: Otherwise,
): Promise<Result | Otherwise> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof StoreUnavailable) return otherwise;
    throw error;
  }
}
