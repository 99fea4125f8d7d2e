// The driver's errors as those of the contract.
import { expect } from "chai";
import { MongoBulkWriteError, MongoNetworkError, MongoServerError } from "mongodb";
import { StorageUnavailable } from "../../../lib/core/errors.js";
import { translate, urlFault } from "../../../lib/storage/mongodb/errors.js";

// As the driver makes it of whatever a write of many meets.
const ofMany = (fault: Error): MongoBulkWriteError => new MongoBulkWriteError(fault as never, undefined as never);

describe("errors of MongoDB's driver", () => {
  it("a connection that breaks in a write of many is an unavailable storage, as in any other", () => {
    const broken = new MongoNetworkError("connection 2 to 127.0.0.1:27017 closed");
    expect(translate(broken)).to.be.instanceOf(StorageUnavailable);
    expect(translate(ofMany(broken))).to.be.instanceOf(StorageUnavailable);
  });

  it("what the server itself says of a write of many keeps its code", () => {
    const shutDown = new MongoServerError({ message: "interrupted at shutdown", code: 11600 });
    expect(translate(ofMany(shutDown))).to.be.instanceOf(StorageUnavailable);
    const duplicate = new MongoServerError({ message: "E11000", code: 11000 });
    expect(translate(ofMany(duplicate))).to.have.property("code", 11000);
  });

  it("a refused user is a fault of the URL at the start, and an unavailable storage afterwards", () => {
    const refused = new MongoServerError({ message: "Authentication failed.", code: 18 });
    expect(urlFault(refused)).to.be.instanceOf(TypeError).with.property("message").that.contains("refuse the user or the password");
    expect(translate(refused)).to.be.instanceOf(StorageUnavailable);
  });

  it("names of a mongodb+srv:// URL that cannot be looked up are an unavailable storage", () => {
    const unknown = Object.assign(new Error("querySrv ENOTFOUND _mongodb._tcp.example.invalid"), { code: "ENOTFOUND", syscall: "querySrv" });
    expect(urlFault(unknown)).to.equal(undefined);
    expect(translate(unknown)).to.be.instanceOf(StorageUnavailable);
  });
});
