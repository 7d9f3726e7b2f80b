"""Croissant metadata of a release: its files with checksums, and the fields of its tables."""

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import quote

from ..citation import citation_file, recognize_licence
from ..codebook import MEDIA_TYPES, field_kinds
from ..facts import Facts

_TYPES = {
    "text": "sc:Text",
    "number": "sc:Float",
    "integer": "sc:Integer",
    "flag": "sc:Boolean",
    "time": "sc:Text",
    "any": "sc:Text",
}
_FORMATS = MEDIA_TYPES | {"parquet": "application/x-parquet"}  # the name that Croissant's readers know
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(facts: Facts, package: Mapping[str, Any], checksums: Mapping[str, str]) -> dict[str, Any]:
    """Describe a release in Croissant 1.0, from its data package and the SHA-256 of its files.

    References
    ----------
    Akhtar et al. (2024), "Croissant: A metadata format for ML-ready datasets", DEEM '24.
    """
    licence = recognize_licence(facts.licence)
    document: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": facts.slug,
        "description": facts.description.strip() or facts.title,
        "citeAs": citation_file(facts),
        "inLanguage": facts.language,
        "distribution": [_file_object(path, checksums[path]) for path in sorted(checksums)],
        "recordSet": [_record_set(resource, checksums) for resource in package["resources"]],
    }
    if licence:
        document["license"] = licence.path or licence.title
    if facts.last_answer:
        document["datePublished"] = facts.last_answer[:10]
    return document


def _file_object(path: str, checksum: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "encodingFormat": _FORMATS[path.rpartition(".")[2]],
        "sha256": checksum,
    }


def _record_set(resource: Mapping[str, Any], files: Collection[str]) -> dict[str, Any]:
    """Describe a table, read from Parquet: readers of CSV and JSON lines make numbers of ids such as 01."""
    path, name = resource["path"], resource["name"]
    ids = {field["name"]: f"{name}/{quote(field['name'], safe='')}" for field in resource["schema"]["fields"]}
    typed = f"{path.rpartition('.')[0]}.parquet"
    source = typed if typed in files else path
    references = {
        key["fields"]: f"{key['reference']['resource']}/{key['reference']['fields']}"
        for key in resource["schema"].get("foreignKeys", [])
    }
    fields = []
    kinds = field_kinds(resource)
    for column in resource["schema"]["fields"]:
        described = {
            "@type": "cr:Field",
            "@id": ids[column["name"]],
            "name": ids[column["name"]],
            "description": column["description"],
            "dataType": _TYPES[kinds[column["name"]]],
            "source": {"fileObject": {"@id": source}, "extract": {"column": column["name"]}},
        }
        if column["name"] in references:
            described["references"] = {"field": {"@id": references[column["name"]]}}
        fields.append(described)
    record_set: dict[str, Any] = {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}
    primary = resource["schema"].get("primaryKey")
    return record_set | ({"key": {"@id": f"{name}/{primary}"}} if primary else {})
