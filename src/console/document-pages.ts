// Pages of a kind of document: list, show, new, edit and delete. A kind defines its fields.

import { isPermitted } from '../domain/api-token.ts';
import { type Document, documentFields } from '../domain/document.ts';
import { idViolation, refuseFields } from '../domain/request-body.ts';
import type { Secret } from '../domain/secret.ts';
import { capitalized } from '../http/description.ts';
import type { DocumentKindApi } from '../http/document-endpoints.ts';
import { pathId } from '../http/request/path-parameter.ts';
import { isUsed, NO_USE, type Use, useText } from '../operations/catalogue/use.ts';
import { listDocuments, readDocument } from '../operations/document/document.ts';
import { Problem } from '../problem.ts';
import { eventsAbout } from './event/paths.ts';
import { checkField, filterField, hidden, problemSummary, textField, wordsOf } from './form/fields.ts';
import { type Form, findViolations, type Members, readForm, typedFields } from './form/form.ts';
import { type FormContent, formPages } from './form/form-pages.ts';
import {
  confirmation,
  documentVersion,
  editForm,
  isConflict,
  preconditionIn,
  versionField,
  versionIn,
} from './form/version.ts';
import {
  buttonTo,
  copyButton,
  definitions,
  type Html,
  headingWith,
  html,
  type Insertion,
  idCell,
  identifier,
  isolated,
  link,
  NO_HTML,
  none,
  pathTo,
  table,
  time,
  titleWith,
  visible,
} from './markup/html.ts';
import { nextPage, PAGE_SIZE, pageQuery } from './markup/pagination.ts';
import { issuedView } from './markup/shown-once.ts';
import { ADMINS, type Page, type PageCall, type Redirect, type View } from './page.ts';

interface DocumentPagesKind<Body> {
  api: DocumentKindApi<Body>;
  /** The path of the list, such as `['catalogue', 'schemas']`. */
  path: readonly string[];
  /** Text above the list, and links beside "New". */
  listHint?: string;
  listActions?: Html;
  /** Path of the link "New"; that of the form if absent. */
  newPath?: string;
  /** The columns of the list after the id. */
  columns: readonly string[];
  cells(document: Document, call: PageCall): Cells | Promise<Cells>;
  idHint: string;
  /** Members of the body that are not read from one field with their name, and what a person types for them. */
  members?(form: Form): Members;
  typed?(document: Document): Readonly<Record<string, string>>;
  /** Fields of the form for a new document. */
  initial?(query: URLSearchParams): Readonly<Record<string, string>>;
  /** The fields of the form. `document` is null for a new one. */
  fields(form: Form, document: Document | null): Html;
  /** Returns a doubt about what was typed, which the person then has to confirm. */
  doubt?(call: PageCall, id: string, body: Body): Promise<Doubt | null>;
  /** Returns the stored fields to show. */
  rows(document: Document, call: PageCall): Rows | Promise<Rows>;
  /** The rest of the page of a document. */
  more?(document: Document, call: PageCall): Promise<Html>;
  /** Links and forms beside "Edit" and "Delete". */
  actions?(document: Document, call: PageCall): Html;
  /** Counts the user groups that use it, which makes the deletion ask once more. */
  countUse?(document: Document, call: PageCall): Promise<Use>;
  /** Consequences of deleting it. */
  consequences(document: Document, call: PageCall): Promise<Html>;
}

type Cells = readonly Insertion[];
type Rows = (readonly [name: string, value: Insertion])[];

/** Fields that are valid, but probably a mistake. */
export class Doubt extends Problem {
  constructor(pointer: string, detail: string) {
    super('invalid_request', 'Nothing was saved yet: check what is marked, or confirm it.', {
      errors: [{ pointer, detail }],
    });
  }
}

const ID_PART = 'id';

/** Returns the part of the id that the documents of a list have to contain. */
export function idPartIn(query: URLSearchParams): string {
  return (query.get(ID_PART) ?? '').trim();
}

/** Finds documents in a list of several pages. */
export function idFilter(path: readonly string[], idPart: string, label = 'Id'): Html {
  return html`<form class="filters" role="search" method="get" action="${pathTo(...path)}" autocomplete="off">
${filterField({ name: ID_PART, label, placeholder: 'a part', value: idPart, type: 'search' })}
<button type="submit">Search</button>
</form>`;
}

const CONFIRMED = 'confirmed';

/** Asks to confirm a doubt. Keeps the answer while the form asks another question, so that it is not asked for twice. */
function confirmationField(form: Form): Html {
  if (form.problem instanceof Doubt) return checkField({ name: CONFIRMED, label: 'Save it anyway' });
  return form.has(CONFIRMED) ? hidden(CONFIRMED, 'on') : NO_HTML;
}

/** Returns the path of the form for a new document: `-` replaces the id, and no action is called `new`. */
export function newPath(path: readonly string[]): string {
  return pathTo(...path, '-', 'new');
}

export class DocumentPages<Body> {
  readonly #kind: DocumentPagesKind<Body>;
  readonly #noun: string;
  readonly #title: string;

  constructor(kind: DocumentPagesKind<Body>) {
    this.#kind = kind;
    this.#noun = kind.api.definition.noun;
    this.#title = wordsOf(kind.path.at(-1)!);
  }

  async #listView(call: PageCall): Promise<View> {
    const { context, caller, query } = call;
    const { path, api, listHint, listActions = NO_HTML } = this.#kind;
    const idPart = idPartIn(query);
    const page = await listDocuments(context, caller, api.definition, { ...pageQuery(query), idPart });
    const { documents, nextCursor } = page;
    const isLong = nextCursor !== null || query.has('cursor');
    const create = buttonTo(this.#kind.newPath ?? newPath(path), `New ${this.#noun}`, 'primary');
    return {
      title: titleWith(this.#title, idPart === '' ? [] : [isolated(idPart)]),
      heading: this.#title,
      actions: isPermitted(caller, ADMINS) ? html`${create} ${listActions}` : NO_HTML,
      main: html`${listHint === undefined ? '' : html`<p class="hint">${listHint}</p>`}
${isLong || idPart !== '' ? idFilter(path, idPart) : ''}
${documents.length === 0 && idPart !== '' ? this.#nothing(idPart) : await this.table(documents, call)}
${nextPage(pathTo(...path), nextCursor, Object.fromEntries(query))}`,
    };
  }

  #nothing(idPart: string): Html {
    const all = link(pathTo(...this.#kind.path), `Show all ${this.#noun}s`);
    return html`${none(`No ${this.#noun} has ${isolated(idPart)} in its id.`)}<p>${all}</p>`;
  }

  async table(documents: readonly Document[], call: PageCall): Promise<Html> {
    const { columns, cells } = this.#kind;
    const rows = documents.map(async (document) => {
      const { id } = document;
      return [idCell(this.documentPath(id), id), ...(await cells(document, call))];
    });
    const nouns = `${this.#noun}s`;
    return table(capitalized(nouns), ['Id', ...columns], await Promise.all(rows), `No ${nouns}.`);
  }

  /** Shows the start of the list, on a page about several kinds. */
  async section(call: PageCall): Promise<Html> {
    const { context, caller } = call;
    const { path, api } = this.#kind;
    const first = { limit: PAGE_SIZE };
    const { documents, nextCursor } = await listDocuments(context, caller, api.definition, first);
    const create = isPermitted(caller, ADMINS) ? buttonTo(newPath(path), `New ${this.#noun}`) : NO_HTML;
    return html`${headingWith(this.#title, create, 2)}
${await this.table(documents, call)}
${nextCursor === null ? '' : html`<div class="actions">${buttonTo(pathTo(...path), `All ${this.#noun}s`)}</div>`}`;
  }

  get all(): Page[] {
    const { path, api } = this.#kind;
    const list = `/${path.join('/')}`;
    const [create, one] = [`${list}/-/new`, `${list}/:${api.idParameter}`];
    const shared = { permissions: ADMINS, purpose: `change ${this.#noun}s` };
    return [
      {
        method: 'GET',
        path: list,
        permissions: api.readers,
        purpose: `list ${this.#noun}s`,
        handle: (call) => this.#listView(call),
      },
      ...formPages({
        ...shared,
        path: create,
        initial: (call) => this.#kind.initial?.(call.query) ?? {},
        act: (call) => this.#create(call),
        view: (_call, form) => this.#newForm(form),
      }),
      {
        method: 'GET',
        path: one,
        permissions: api.readers,
        purpose: `read ${this.#noun}s`,
        handle: (call) => this.showView(call),
      },
      ...formPages({
        ...shared,
        path: `${one}/edit`,
        initial: async (call) => this.#typed(await this.read(call)),
        act: (call) => this.#save(call, this.documentId(call)),
        view: (call, form) => this.#editForm(call, form),
      }),
      ...formPages({
        ...shared,
        path: `${one}/delete`,
        act: (call) => this.#remove(call),
        view: (call, form) => this.#removeForm(call, form),
      }),
    ];
  }

  #typed(document: Document): Readonly<Record<string, string>> {
    const { api, typed } = this.#kind;
    return { ...typedFields(api.body, documentFields(document)), ...typed?.(document) };
  }

  /** Shows one document; `problem` says why an action on it failed. */
  async showView(call: PageCall, problem?: Problem): Promise<View> {
    const document = await this.read(call);
    const { id, version, createdAt, updatedAt } = document;
    const { rows, more, api } = this.#kind;
    const noun = capitalized(this.#noun);
    return {
      title: `${noun} ${id}`,
      heading: html`${noun} ${identifier(id)}`,
      actions: isPermitted(call.caller, ADMINS) ? this.#actions(document, call) : NO_HTML,
      main: html`${problemSummary(problem)}
${definitions([
  ['Id', html`<code>${visible(id)}</code>${copyButton(id, 'id')}`],
  ...(await rows(document, call)),
  ['Created', time(createdAt)],
  ['Updated', html`${time(updatedAt)} (version ${version})`],
])}
${more === undefined ? '' : await more(document, call)}
<p>${link(eventsAbout({ type: api.definition.kind, id }), `Events of this ${this.#noun}`)}</p>`,
    };
  }

  /** Returns the document in the path. Throws `not_found`. */
  read(call: PageCall): Promise<Document> {
    return readDocument(call.context, call.caller, this.#kind.api.definition, this.documentId(call));
  }

  documentPath(id: string, ...action: string[]): string {
    return pathTo(...this.#kind.path, id, ...action);
  }

  /** Shows a secret, in the response to the action that created it. */
  secretView(id: string, secret: Secret, done: string): View {
    const next = this.documentPath(id);
    return issuedView(`Secret of ${this.#noun} ${id}`, done, { label: 'Secret', secret, next });
  }

  #actions(document: Document, call: PageCall): Html {
    return html`${buttonTo(this.documentPath(document.id, 'edit'), 'Edit', 'primary')}
${this.#kind.actions?.(document, call) ?? ''}
${buttonTo(this.documentPath(document.id, 'delete'), 'Delete', 'danger')}`;
  }

  documentId({ request }: PageCall): string {
    return pathId(request, this.#kind.api.idParameter);
  }

  #newForm(sent: Form): FormContent {
    const { path, fields, idHint: hint } = this.#kind;
    const form = isConflict(sent.problem) ? sent.rejected(idTaken(this.#noun)) : sent;
    return {
      title: `New ${this.#noun}`,
      reason: problemSummary(form.problem),
      fields: html`${versionField('')}
${textField({ ...form.field('id'), hint, isRequired: true })}
${fields(form, null)}
${confirmationField(form)}`,
      button: 'Save',
      back: pathTo(...path),
    };
  }

  async #editForm(call: PageCall, sent: Form): Promise<FormContent> {
    const form = explained(sent);
    const { path, fields } = this.#kind;
    const found = this.read(call);
    // null if it was deleted after the form was opened.
    const document = await (form.problem === undefined ? found : found.catch(nullIfNotFound));
    const stored = { document, typed: document === null ? {} : this.#typed(document) };
    return editForm(form, this.#noun, stored, {
      title: `Edit ${this.#noun} ${this.documentId(call)}`,
      fields: (shown) => html`${fields(shown, document)}
${isInUse(form) ? forceField(form) : ''}
${confirmationField(form)}`,
      back: document === null ? pathTo(...path) : this.documentPath(document.id),
    });
  }

  async #create(call: PageCall): Promise<View | Redirect> {
    const id = call.form.text('id');
    const violation = idViolation(id);
    if (violation !== null) {
      const { api, members } = this.#kind;
      const others = await findViolations(() => readForm(call.context, call.form, api.body, members));
      refuseFields([{ pointer: '/id', detail: violation }, ...others]);
    }
    return this.#save(call, id);
  }

  async #save(call: PageCall, id: string): Promise<View | Redirect> {
    const { context, caller, form } = call;
    const { api, members, doubt } = this.#kind;
    const read = await readForm(context, form, api.body, members);
    const warning = form.has(CONFIRMED) ? null : await doubt?.(call, id, read);
    // A stale form is refused below: the doubt may be about what another person has changed.
    if (warning && !(await this.#isStale(call, id))) throw warning;
    const { secret } = await api.put(context, caller, id, read, preconditionIn(form), form.has(FORCE));
    if (secret == null) return { location: this.documentPath(id), notice: 'Saved.' };
    return this.secretView(id, secret, 'Created.');
  }

  async #isStale({ context, caller, form }: PageCall, id: string): Promise<boolean> {
    const found = readDocument(context, caller, this.#kind.api.definition, id);
    return documentVersion(await found.catch(nullIfNotFound)) !== versionIn(form);
  }

  async #removeForm(call: PageCall, sent: Form): Promise<FormContent> {
    const form = explained(sent);
    const document = await this.read(call);
    // A refusal already says how many, and counting takes up to a second.
    const isRefused = isInUse(form);
    const use = isRefused ? NO_USE : ((await this.#kind.countUse?.(document, call)) ?? NO_USE);
    return confirmation(form, this.#noun, documentVersion(document), {
      title: `Delete ${this.#noun} ${isolated(document.id)}?`,
      text: html`${this.#kind.countUse && !isRefused ? html`<p>${useText(use, 'it')}</p>` : ''}
${await this.#kind.consequences(document, call)}`,
      fields: isRefused || isUsed(use) ? forceField(form) : NO_HTML,
      button: 'Delete',
    });
  }

  async #remove(call: PageCall): Promise<Redirect> {
    const { path, api } = this.#kind;
    const { context, caller, form } = call;
    const id = this.documentId(call);
    await api.remove(context, caller, id, preconditionIn(form), form.has(FORCE));
    return { location: pathTo(...path), notice: 'Deleted.' };
  }
}

const FORCE = 'force';

/** Says how many user groups use it, and to confirm below instead of how callers of the API do. */
function explained(form: Form): Form {
  if (!isInUse(form)) return form;
  const [use] = form.problem.message.split('.', 1);
  return form.rejected(new Problem('in_use', `${use}, so nothing was changed. Confirm below.`));
}

function isInUse(form: Form): form is Form & { problem: Problem } {
  return form.problem?.code === 'in_use';
}

/** Lets the person continue after a refusal, which says how many user groups use it. */
function forceField(form: Form): Html {
  return checkField({ ...form.field(FORCE), label: 'Continue although user groups use it' });
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof Problem && error.code === 'not_found') return null;
  throw error;
}

function idTaken(noun: string): Problem {
  return new Problem('version_mismatch', `Another ${noun} has this id, so nothing was saved.`, {
    errors: [{ pointer: '/id', detail: 'is taken: choose another one, or edit what exists' }],
  });
}
